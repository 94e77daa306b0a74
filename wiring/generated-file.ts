import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { type CatalogueIndex, readCatalogueIndex } from '../core/connectors/catalogue-index.ts';

const FOLDER = join(import.meta.dirname, '../generated');

/** Reads a file of `generated/` as text. */
export function readGenerated(name: string): string {
  return readFileSync(join(FOLDER, name), 'utf8');
}

/**
 * Reads the index of the catalogue. The tools are read from the file when they are first used, because their text takes
 * 4 MB of memory. The file stays open until the server stops, so that an upgrade that replaces it does not change what
 * a running server reads.
 */
export function openCatalogueIndex(
  closing: Pick<AsyncDisposableStack, 'defer'>,
  path = join(FOLDER, 'catalogue.json'),
): CatalogueIndex {
  const descriptor = openSync(path, 'r');
  let isOpen = true;
  closing.defer(() => {
    isOpen = false;
    closeSync(descriptor);
  });
  return readCatalogueIndex(readFileSync(descriptor), (from, length) => {
    // After the file was closed, the system may use the number of its descriptor for another file.
    if (!isOpen) throw new Error(`${path} is closed, because the server has stopped`);
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      const size = readSync(descriptor, bytes, at, length - at, from + at);
      if (size === 0) throw new Error(`${path} was shortened while the server was running: restart the server`);
      at += size;
    }
    return bytes.toString('latin1');
  });
}
