import { type DetailsForm, isText } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeBearer } from './placing.ts';

/** The database user, and the temporary credentials that the cloud issued. */
const TRUSTED_IDP: DetailsForm = {
  name: 'trusted_idp',
  shown: ['db_user', 'access_key_id', 'expiry'],
  internal: ['secret_access_key', 'session_token'],
  obtained: ['access_key_id', 'expiry'],
  // The account's configuration names a serverless workgroup, which needs no database user.
  isUsable: ({ db_user: user }, { workgroup_name: workgroup }) => isText(user) || isText(workgroup),
  problemsOf: ({ db_user: user }, { cluster_identifier: cluster }) =>
    isText(cluster) && !isText(user) ? [{ field: 'db_user', message: 'is required for a provisioned cluster' }] : [],
};

/** Temporary cloud credentials, which the cloud issues because it trusts what this environment signs about its accounts. */
export const trustedIdp: AuthorizationModule = {
  connectionType: 'TRUSTED_IDP',
  forms: [TRUSTED_IDP],
  placeToken: placeBearer,
  client: {
    kind: 'identity_token',
    method: () => 'identity_token',
    audience: ({ identity_audience: audience = null }) => audience,
  },
  obtainingOf: () => 'web_identity',
  storeAdvice: 'The application has to store the database user, or the role and the cluster.',
};
