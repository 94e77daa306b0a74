import type { OAuthGrantRow } from '../../db/store.ts';
import { MCP_LOGIN } from '../budgets.ts';

/**
 * Decides what happens to a refresh token. `current`: it is the current one, and is replaced. `repeated`: it was
 * replaced recently, and the client gets the current one, because clients refresh concurrently and lose responses.
 * `reused`: it was replaced longer ago, or has been followed by more than `MCP_LOGIN.retired` tokens. Two parties may
 * have it, so the grant must end (OAuth 2.1 §4.3.1).
 *
 * @param generation the number of the presented token: each replacement increases it by one
 * @param now milliseconds UTC
 */
export function classifyRefreshToken(
  grant: Pick<OAuthGrantRow, 'generation' | 'retiredAt'>,
  generation: number,
  now: number,
): 'current' | 'repeated' | 'reused' {
  if (generation === grant.generation) return 'current';
  const back = grant.generation - generation;
  const retiredAt = grant.retiredAt[back - 1];
  if (retiredAt === undefined) return 'reused';
  // If `back` is 1, the current token is still unused, and the client may not have received it. So the grace is longer.
  const grace = back === 1 ? MCP_LOGIN.unusedGraceMs : MCP_LOGIN.graceMs;
  return now - retiredAt < grace ? 'repeated' : 'reused';
}

/** Returns the grant after its refresh token was replaced. */
export function rotateGrant(grant: OAuthGrantRow, now: number): OAuthGrantRow {
  return {
    ...grant,
    generation: grant.generation + 1,
    retiredAt: [now, ...grant.retiredAt].slice(0, MCP_LOGIN.retired),
    usedAt: now,
    expiresAt: Math.min(now + MCP_LOGIN.grantIdleMs, grant.createdAt + MCP_LOGIN.grantMs),
  };
}
