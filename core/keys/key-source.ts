import { existsSync } from 'node:fs';
import type { Secret } from '../secret.ts';
import { VaultError } from '../vault/errors.ts';
import { createKeyFile } from '../vault/key-file-edit.ts';
import { generateKey, parseKeyRing } from '../vault/key-ring.ts';
import type { KeyReload, KeySource } from '../vault/key-source.ts';
import { fixedKeys, KeyFileSource } from '../vault/key-source.ts';

export interface KeySettings {
  /** Keys given in a variable; they win over the file. */
  keys: Secret | null;
  keysFile: string;
  /** Whether a missing key file may be made: at the first start of a development environment only. */
  mayCreate: boolean;
}

export interface OpenedKeys {
  source: KeySource;
  /** The path of a key file that was just made. */
  created: string | null;
}

/**
 * Finds the key-encryption keys.
 *
 * @param report is told when a key file changes later
 * @throws VaultError NO_KEY when there is none and none may be made, and as the key file and its content demand
 */
export function openKeySource(
  settings: KeySettings,
  tools: { now(): number; random(size: number): Buffer },
  report?: (reload: KeyReload) => void,
): OpenedKeys {
  if (settings.keys) {
    return { source: fixedKeys(parseKeyRing(settings.keys.reveal(), 'VALETKEY_KEYS')), created: null };
  }
  const exists = existsSync(settings.keysFile);
  if (!exists && !settings.mayCreate) {
    throw new VaultError(
      'NO_KEY',
      `The key file ${settings.keysFile} does not exist. Start with the keys that encrypted the stored data.`,
    );
  }
  const created = !exists && create(settings.keysFile, tools.random);
  return {
    source: new KeyFileSource(settings.keysFile, tools.now, report),
    created: created ? settings.keysFile : null,
  };
}

/** @returns false when another start has made the file meanwhile */
function create(path: string, random: (size: number) => Buffer): boolean {
  try {
    createKeyFile(path, generateKey(random).line);
    return true;
  } catch (error) {
    if (error instanceof VaultError && error.code === 'KEY_FILE_EXISTS') return false;
    throw error;
  }
}
