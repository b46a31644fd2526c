"""Facts that outlive a conversation, and their bounded views."""
