import type { AuthRequestRow, EnvironmentRow } from '../../../db/store.ts';
import { contextOf, type LinkContext } from './link-context.ts';
import type { LinkDeps } from './link-deps.ts';
import { isToken, tokenDigest } from './tokens.ts';

/** The state of a link. Reading it changes nothing (threat L7). */
export type OpenedLink =
  | { kind: 'open'; link: LinkContext }
  | { kind: 'unknown' }
  | {
      /**
       * `waiting`: a user has finished the link but is not verified yet. `used`: a user has finished it and was
       * verified. `expired`: it has expired, or it can no longer be used because its account, connection or provider
       * was deleted or disabled. `ended`: it has failed, for example because its user went back to the application, or
       * because the verification failed.
       */
      kind: 'waiting' | 'used' | 'expired' | 'ended';
      request: AuthRequestRow;
    };

/** @param token as in the link's address */
export async function openLink(
  deps: Pick<LinkDeps, 'store' | 'digester' | 'catalogue' | 'authorization' | 'now'>,
  environment: EnvironmentRow,
  token: string,
): Promise<OpenedLink> {
  if (!isToken(token)) return { kind: 'unknown' };
  const { read } = deps.store;
  const request = await read.authRequests.byLink(environment.id, tokenDigest(deps.digester, 'link', token));
  if (!request) return { kind: 'unknown' };
  if (request.state === 'CONSUMED') return { kind: 'used', request };
  if (request.state === 'FAILED') return { kind: 'ended', request };
  const isInTime = request.expiresAt > deps.now();
  if (request.state === 'PENDING_VERIFICATION') return { kind: isInTime ? 'waiting' : 'expired', request };
  const link = request.linkExpiresAt > deps.now() && (await contextOf(read, deps, environment, request));
  return link ? { kind: 'open', link } : { kind: 'expired', request };
}
