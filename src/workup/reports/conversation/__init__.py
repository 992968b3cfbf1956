"""The report of a chat model over many turns."""

PAGE = "page:ConversationPage"
