import { createHash, createSecretKey } from 'node:crypto';
import { issueAccessToken, type TokenFacts, verificationKeys } from '../../../core/tokens/access-token.ts';
import { generateSigningKey, type SigningKeys } from '../../../core/tokens/signing-key.ts';
import { createDigester } from '../../../core/vault/digest.ts';

/** Random bytes that are the same in every run. */
export function seededRandom(seed = 'seed'): (size: number) => Buffer {
  let block = 0;
  return (size) => {
    const blocks: Buffer[] = [];
    while (blocks.length * 32 < size) blocks.push(createHash('sha256').update(`${seed}/${block++}`).digest());
    return Buffer.concat(blocks).subarray(0, size);
  };
}

export const digester = createDigester(createSecretKey(Buffer.alloc(32, 1)));

export const NOW = 1_800_000_000_000;
export const signingKeys: SigningKeys = { current: generateSigningKey(), previous: generateSigningKey() };
export const keys = verificationKeys(signingKeys);
export const EXPECTED = { issuer: 'https://vault.example.com', audience: 'https://vault.example.com' };

export const FACTS: TokenFacts = {
  ...EXPECTED,
  clientId: 'cli_a',
  environmentId: 'env_a',
  generation: 3,
  scopes: ['accounts:read', 'tools:execute'],
};

export function issue(facts: Partial<TokenFacts> = {}, now = NOW, key = signingKeys.current): string {
  return issueAccessToken(key, { ...FACTS, ...facts }, now, seededRandom(`${now}`));
}
