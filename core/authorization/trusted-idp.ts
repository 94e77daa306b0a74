import { ApiError } from '../errors.ts';
import type { RequestSigner } from '../tools/signer.ts';
import { previewSignedV4, type SigningScope, signRequestV4 } from '../trusted-idp/sign-v4.ts';
import { fromTemporaryDetails } from '../trusted-idp/temporary-credentials.ts';
import { warehouseInputs } from '../trusted-idp/warehouse-target.ts';
import { type DetailsForm, isText } from './forms.ts';
import type { AuthorizationModule, SignerDeps, SigningContext } from './module.ts';
import { placeBearer } from './placing.ts';

/** The name of the database user, and the temporary credentials that the cloud issued. */
const TRUSTED_IDP: DetailsForm = {
  name: 'trusted_idp',
  shown: ['db_user', 'access_key_id', 'expiry'],
  internal: ['secret_access_key', 'session_token'],
  obtained: ['access_key_id', 'expiry'],
  // A serverless workgroup in the account's configuration needs no database user.
  isUsable: ({ db_user: user }, { workgroup_name: workgroup }) => isText(user) || isText(workgroup),
  problemsOf: ({ db_user: user }, { cluster_identifier: cluster }) =>
    isText(cluster) && !isText(user) ? [{ field: 'db_user', message: 'is required for a provisioned cluster' }] : [],
};

/**
 * Temporary cloud credentials. The cloud issues them because it trusts the identity tokens that this environment signs.
 */
export const trustedIdp: AuthorizationModule = {
  connectionType: 'TRUSTED_IDP',
  forms: [TRUSTED_IDP],
  placeToken: placeBearer,
  client: {
    kind: 'identity_token',
    method: () => 'identity_token',
    audience: ({ identity_audience: audience = null }) => audience,
  },
  signing: { signer, preview },
  callInputs: {
    names: ['db_user'],
    read: (inputs, shown) => warehouseInputs(inputs, userIn(shown?.[TRUSTED_IDP.name])),
  },
  obtainingOf: () => 'web_identity',
  storeAdvice: 'The application must store the database user, or the role and the cluster.',
};

function userIn(shown: unknown): string | null {
  const user = (shown as { db_user?: unknown } | undefined)?.db_user;
  return typeof user === 'string' ? user : null;
}

/** Returns a signer for AWS Signature Version 4, using the temporary credentials. */
function signer(context: SigningContext, { now }: SignerDeps): RequestSigner | undefined {
  const scope = scopeOf(context);
  const credentials = fromTemporaryDetails(context.details[TRUSTED_IDP.name] ?? {});
  if (credentials === null) return undefined;
  const { secretAccessKey, sessionToken } = credentials;
  return {
    sign: (request) => signRequestV4(request, credentials, scope, now()),
    preview: (request) => previewSignedV4(request, scope),
    secrets: [secretAccessKey.reveal(), sessionToken.reveal()],
  };
}

function preview(context: Omit<SigningContext, 'details'>): RequestSigner {
  const scope = scopeOf(context);
  return {
    sign: () => {
      throw new TypeError('A preview is never sent');
    },
    preview: (request) => previewSignedV4(request, scope),
    secrets: [],
  };
}

function scopeOf({ apiConfig, pattern }: Omit<SigningContext, 'details'>): SigningScope {
  const service = pattern.oauth_config?.signing_service;
  const { region } = apiConfig;
  if (service === undefined) {
    throw new ApiError(
      'UNSUPPORTED_CONNECTION_TYPE',
      'The calls cannot be signed, because the oauth_config of the provider has no signing_service.',
    );
  }
  if (typeof region !== 'string') {
    throw new ApiError('INVALID_API_CONFIG', 'The account has no region in api_config.', {
      errors: [{ field: 'connected_account.api_config.region', message: 'is required' }],
    });
  }
  return { region, service };
}
