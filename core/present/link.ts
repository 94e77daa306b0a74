import type { CreatedLink } from '../accounts/links/create-link.ts';
import { rfc3339 } from '../text/rfc3339.ts';
import type { Schemas } from './schemas.ts';

export function presentLink({ url, expiresAt }: CreatedLink): Schemas['MagicLink'] {
  return { link: url, expiry: rfc3339(expiresAt) };
}
