// What a view writes into the text box of its page, as if somebody had typed it; where there is no such page nothing happens.

/** @type {(text: string) => void} */
export const writeText = (text) => void dispatchEvent(new CustomEvent("headlight:text", { detail: text }));
