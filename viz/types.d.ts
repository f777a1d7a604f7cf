// The types of the scripts beside it. tsc reads this file (`make lint`); a browser never does.

declare global {
  const layersOf: Record<string, number[]>; // the layers of each attention of a menu: viz/bertviz.py puts it above bertviz.js
}

export {};
