"""The group of settings that bound what a server does for anybody."""

LIMITS = "limits"
