"""Worker processes of an adapter host, two against one."""
