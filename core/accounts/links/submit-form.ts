import type { Cause } from '../../events/events.ts';
import type { Grant } from './authorization-client.ts';
import { formFieldsOf, type ReadForm } from './entered-fields.ts';
import type { LinkContext } from './link-context.ts';
import type { LinkDeps } from './link-deps.ts';
import { type Settled, settle } from './settle.ts';

/** The provider does not accept the entered credentials; nothing was stored. */
export interface NotAccepted {
  kind: 'not_accepted';
  /** The fields to correct. */
  fields: readonly string[];
}

/**
 * Stores the credentials that a user entered, unless the provider rejects them. An attacker can trick a user into
 * entering a key just as into consenting, so the user is verified in the same way.
 */
export async function submitForm(
  deps: LinkDeps,
  link: LinkContext,
  form: ReadForm,
  cause: Cause,
): Promise<Settled | NotAccepted> {
  const details = { static_auth: { details: form.credentials } };
  const { environment, provider, pattern, connection } = link;
  const given = { provider, pattern, connection, apiConfig: form.apiConfig, details };
  const checked = await deps.checkCredentials(environment, given);
  if (checked.verdict === 'rejected') return { kind: 'not_accepted', fields: secretNames(link, form) };
  const grant: Grant = {
    details,
    tokenExpiresAt: null,
    subject: null,
    apiConfig: form.change,
    origins: [],
  };
  return settle(deps, link, grant, cause);
}

/**
 * Returns the names of the secret fields that the user filled in; if there are none, the names of all credential fields
 * that the user filled in.
 */
function secretNames(link: LinkContext, { credentials }: ReadForm): string[] {
  const entered = formFieldsOf(link).filter(
    ({ part, field_name: name }) => part === 'credentials' && name in credentials,
  );
  const secret = entered.filter(({ isSecret }) => isSecret);
  return (secret.length > 0 ? secret : entered).map(({ field_name: name }) => name);
}
