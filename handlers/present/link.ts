import type { CreatedLink } from '../../core/accounts/links/create-link.ts';
import { rfc3339 } from '../../core/rfc3339.ts';
import type { Schemas } from '../../http/contract.ts';

export function presentLink({ url, expiresAt }: CreatedLink): Schemas['MagicLink'] {
  return { link: url, expiry: rfc3339(expiresAt) };
}
