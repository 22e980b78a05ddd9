"""The audit's figures as a table for people, a document for programs, a picture."""
