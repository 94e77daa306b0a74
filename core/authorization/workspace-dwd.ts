import { checkServiceAccount } from '../workspace-dwd/service-account.ts';
import { type DetailsForm, isText } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { placeBearer } from './placing.ts';

/** The user that the service account acts for, and the obtained token. */
const WORKSPACE_DWD: DetailsForm = {
  name: 'workspace_dwd',
  shown: ['subject', 'scopes', 'token_expires_at'],
  obtained: ['scopes', 'token_expires_at'],
  isUsable: ({ subject }) => isText(subject),
};

/**
 * Domain-wide delegation: a service account acts for a user (RFC 7523). The key of the service account is the client
 * secret of the connection.
 */
export const workspaceDwd: AuthorizationModule = {
  connectionType: 'WORKSPACE_DWD',
  forms: [WORKSPACE_DWD],
  placeToken: placeBearer,
  client: {
    kind: 'registered',
    method: () => 'service_account',
    secret: {
      demand: 'must be the JSON key file of a service account.',
      // `token_uri` is not a URL if it contains an account value, and it is missing if it is discovered later. In both
      // cases it is not compared with the key file.
      read: (secret, { oauth_config: config }) =>
        checkServiceAccount(secret, URL.parse(config?.token_uri ?? '') ?? undefined),
    },
  },
  obtainingOf: () => 'delegation',
  storeAdvice: 'The application must store the subject: the user that the service account acts for.',
};
