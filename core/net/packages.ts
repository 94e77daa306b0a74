import { createRequire } from 'node:module';

// Loads the two HTTP clients when the first call needs them, because each takes as much time and memory as the rest of
// a start.

const require = createRequire(import.meta.url);

export function loadUndici(): typeof import('undici') {
  return require('undici');
}

export function loadGot(): typeof import('got') {
  return require('got');
}
