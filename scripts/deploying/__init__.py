"""What is shipped for deployment, checked by the programs that it is for."""
