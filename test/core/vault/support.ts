import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bindingDigest } from '../../../core/vault/binding-digest.ts';
import type { RecordContext, ValueContext } from '../../../core/vault/context.ts';
import { VaultError, type VaultErrorCode } from '../../../core/vault/errors.ts';
import { type KeyRing, parseKeyRing } from '../../../core/vault/key-ring.ts';
import { fixedKeys } from '../../../core/vault/key-source.ts';
import { Vault } from '../../../core/vault/vault.ts';

/** Random bytes that are the same in every run. Each call gives fresh memory, as the real source does. */
export function seededRandom(seed = 'seed'): (size: number) => Buffer {
  let block = 0;
  return (size) => {
    const blocks: Buffer[] = [];
    while (blocks.length * 32 < size) blocks.push(createHash('sha256').update(`${seed}/${block++}`).digest());
    return Buffer.concat(blocks).subarray(0, size);
  };
}

/** A line of a key file; the same id and seed give the same line. */
export function keyLine(id: string, seed = id): string {
  return `${id}:${createHash('sha256').update(seed).digest('base64')}`;
}

export function ringOf(...ids: string[]): KeyRing {
  return parseKeyRing(ids.map((id) => keyLine(id)).join('\n'), 'test ring');
}

export const OLD = 'kek_oldoldold';
export const NEW = 'kek_newnewnew';

export function vaultOf(ring: KeyRing, seed = 'vault'): Vault {
  return new Vault(fixedKeys(ring), seededRandom(seed));
}

export const RECORD: RecordContext = {
  table: 'connected_accounts',
  environmentId: 'env_a',
  recordId: 'ca_a',
  generation: 7,
  bindingDigest: bindingDigest(['https://api.example.com']),
};

export const VALUE: ValueContext = {
  table: 'connections',
  environmentId: 'env_a',
  recordId: 'conn_a',
  field: 'client_secret',
};

/** Returns the error of an action; the test fails if the action succeeds. */
export function failureOf(action: () => unknown): VaultError {
  try {
    action();
  } catch (error) {
    if (error instanceof VaultError) return error;
    throw error;
  }
  throw new Error('Expected a VaultError, but nothing was thrown');
}

export async function failureOfAsync(action: () => Promise<unknown>): Promise<VaultError> {
  try {
    await action();
  } catch (error) {
    if (error instanceof VaultError) return error;
    throw error;
  }
  throw new Error('Expected a VaultError, but nothing was thrown');
}

export function codeOf(action: () => unknown): VaultErrorCode {
  return failureOf(action).code;
}

/** Runs a function with its own empty directory. */
export function withDirectory(run: (directory: string) => void): void {
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-vault-'));
  try {
    run(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
