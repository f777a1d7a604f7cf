"""The pages, as the menu has them."""

SECTIONS = {  # by what one wants to do
    "See": {
        "type": ("Type", ":material/keyboard:"),
        "attention": ("Attention", ":material/visibility:"),
        "layers": ("Layers", ":material/layers:"),
        "flow": ("Flow", ":material/account_tree:"),
        "space": ("Space", ":material/scatter_plot:"),
    },
    "Follow": {
        "inside": ("Inside", ":material/biotech:"),
        "generate": ("Generate", ":material/edit_note:"),
    },
    "Ask why": {
        "explain": ("Explain", ":material/contact_support:"),
        "change": ("Change", ":material/toggle_off:"),
        "heads": ("Heads", ":material/group_work:"),
    },
    "Make": {"build": ("Build", ":material/construction:"), "train": ("Train", ":material/exercise:")},
    "Learn": {"lessons": ("Lessons", ":material/school:"), "room": ("Room", ":material/groups:")},
}
TITLES = {name: title for pages in SECTIONS.values() for name, (title, _) in pages.items()}
