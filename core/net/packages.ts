import { createRequire } from 'node:module';

// Loads the two HTTP clients when the first call needs them, because loading each takes as much time and memory as the
// rest of the start of the process.

const require = createRequire(import.meta.url);

/**
 * Loads only the module of undici that calls use. Its other modules, such as `fetch`, take 16 MB of memory and 46 ms of
 * processor time.
 */
export function loadUndiciClient(): typeof import('undici').Client {
  return require('undici/lib/dispatcher/client.js');
}

export function loadGot(): typeof import('got') {
  return require('got');
}
