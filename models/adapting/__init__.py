"""Adapting a model to a few sentences: LoRA and its kin through peft, or all weights; and opening what was adapted."""
