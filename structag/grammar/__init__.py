"""The unified grammar: expressions (noun), builder, and the steps from grammar to grammar."""
