import type { Cause } from '../../events/events.ts';
import type { Grant } from './authorization-client.ts';
import type { LinkContext } from './link-context.ts';
import type { LinkTools } from './link-tools.ts';
import { type Settled, settle } from './settle.ts';
import type { ReadForm } from './typed-fields.ts';

/**
 * Stores the credentials that a user entered. An attacker can trick a user into entering a key just as into consenting,
 * so the user is verified in the same way.
 */
export function submitForm(tools: LinkTools, link: LinkContext, form: ReadForm, cause: Cause): Promise<Settled> {
  const grant: Grant = {
    details: { static_auth: { details: form.credentials } },
    tokenExpiresAt: null,
    subject: null,
    apiConfig: form.change,
    origins: [],
  };
  return settle(tools, link, grant, cause);
}
