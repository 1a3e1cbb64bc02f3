"""The kill matrix: a process dies before each single statement that an operation sends, and the file is looked at after."""
