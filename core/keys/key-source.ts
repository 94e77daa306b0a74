import { existsSync } from 'node:fs';
import type { Secret } from '../secret.ts';
import { VaultError } from '../vault/errors.ts';
import { createKeyFile } from '../vault/key-file-edit.ts';
import { generateKey, parseKeyRing } from '../vault/key-ring.ts';
import type { KeyReload, KeySource } from '../vault/key-source.ts';
import { fixedKeys, KeyFileSource } from '../vault/key-source.ts';

export interface KeySettings {
  /** Keys in an environment variable; they take precedence over the file. */
  keys: Secret | null;
  keysFile: string;
  /** Whether a missing key file may be created: only at the first start of a development environment. */
  mayCreate: boolean;
}

export interface OpenedKeys {
  source: KeySource;
  /** The path of a key file that was just created. */
  created: string | null;
}

/**
 * Reads the key-encryption keys.
 *
 * @param report is called when a key file changes later
 * @throws VaultError NO_KEY if there are none and none may be created; other codes for invalid keys
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

/** @returns false if another process has created the file in the meantime */
function create(path: string, random: (size: number) => Buffer): boolean {
  try {
    createKeyFile(path, generateKey(random).line);
    return true;
  } catch (error) {
    if (error instanceof VaultError && error.code === 'KEY_FILE_EXISTS') return false;
    throw error;
  }
}
