import { createRequire } from 'node:module';

// Loads the two HTTP clients when the first call needs them, because each takes as much time and memory as the rest of
// a start.

const require = createRequire(import.meta.url);

/** Loads only the module of undici that calls use: the others, such as its `fetch`, take 16 MB and 46 ms of processor time. */
export function loadUndiciClient(): typeof import('undici').Client {
  return require('undici/lib/dispatcher/client.js');
}

export function loadGot(): typeof import('got') {
  return require('got');
}
