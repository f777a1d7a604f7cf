// Looking something up by a word that came from outside, such as the name of a key on the keyboard.

/** @type {<Value>(table: Record<string, Value>, key: string) => Value | undefined} */
export function lookUp(table, key) {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
