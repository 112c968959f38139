"""The argument styles: notations for the arguments of tool calls, one file for each family."""
