"""Models of the Hugging Face Hub, or of a local folder in its format, as a LanguageModel."""
