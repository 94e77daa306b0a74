import type { AuthorizationType } from '../../core/authorization/type.ts';
import type { AuthPattern } from '../../core/connectors/auth-pattern.ts';
import { createProvider } from './providers.ts';
import type { TestResponse, TestServer } from './server.ts';

/** An authorization type in the pattern of a custom provider, with the values of an account. */
export interface TypeSample {
  pattern: AuthPattern;
  /**
   * `authorization_details` of a request; undefined for a type without credentials. Every secret value begins with
   * `secret-`.
   */
  details?: { [form: string]: Record<string, unknown> };
  /** The other forms of details that the type accepts. */
  otherForms?: readonly string[];
  /** The part of the details that is not secret. */
  shown: Record<string, unknown>;
}

const OAUTH_CONFIG = { authorize_uri: 'https://auth.acme.test/authorize', token_uri: 'https://auth.acme.test/token' };

const OAUTH_TOKEN = {
  oauth_token: {
    access_token: 'secret-access-token',
    refresh_token: 'secret-refresh-token',
    scopes: ['read', 'write'],
    domain: 'acme.test',
  },
};
const OAUTH_SHOWN = { oauth_token: { scopes: ['read', 'write'], domain: 'acme.test' } };

/** Samples of all twelve authorization types. */
export const SAMPLES: Record<AuthorizationType, TypeSample> = {
  OAUTH: { pattern: { type: 'OAUTH', oauth_config: OAUTH_CONFIG }, details: OAUTH_TOKEN, shown: OAUTH_SHOWN },
  OAUTH_M2M: {
    pattern: {
      type: 'OAUTH_M2M',
      fields: [
        { field_name: 'client_id', label: 'Client id', input_type: 'text', required: true },
        { field_name: 'client_secret', label: 'Client secret', input_type: 'password', required: true },
      ],
      oauth_config: { token_uri: 'https://auth.acme.test/token' },
    },
    details: { static_auth: { details: { client_id: 'machine-7', client_secret: 'secret-of-the-machine' } } },
    otherForms: ['oauth_token'],
    shown: { static_auth: { details: { client_id: 'machine-7' } } },
  },
  API_KEY: {
    pattern: { type: 'API_KEY' },
    details: { static_auth: { details: { api_key: 'secret-api-key' } } },
    shown: { static_auth: { details: {} } },
  },
  BEARER_TOKEN: {
    pattern: { type: 'BEARER_TOKEN' },
    details: { static_auth: { details: { token: 'secret-bearer-token' } } },
    shown: { static_auth: { details: {} } },
  },
  BASIC: {
    pattern: { type: 'BASIC' },
    details: { static_auth: { details: { username: 'ada', password: 'secret-password' } } },
    shown: { static_auth: { details: { username: 'ada' } } },
  },
  BASIC_AUTH: {
    pattern: { type: 'BASIC_AUTH' },
    details: { static_auth: { details: { username: 'grace', password: 'secret-password-too' } } },
    shown: { static_auth: { details: { username: 'grace' } } },
  },
  CUSTOM: {
    pattern: {
      type: 'CUSTOM',
      fields: [
        { field_name: 'tenant', label: 'Tenant', input_type: 'text', required: true },
        { field_name: 'region', label: 'Region', input_type: 'select', options: ['eu', 'us'] },
        { field_name: 'signing_key', label: 'Key', input_type: 'password', required: true },
        { field_name: 'certificate', label: 'Certificate', input_type: 'textarea' },
      ],
    },
    details: {
      static_auth: {
        details: {
          tenant: 't-1',
          region: 'eu',
          signing_key: 'secret-signing-key',
          certificate: 'secret-line\nsecret-line',
        },
      },
    },
    shown: { static_auth: { details: { tenant: 't-1', region: 'eu' } } },
  },
  BOARD_OAUTH1: {
    pattern: { type: 'BOARD_OAUTH1', oauth_config: OAUTH_CONFIG },
    details: { oauth_token: { access_token: 'secret-token-of-the-board', scopes: ['read'] } },
    shown: { oauth_token: { scopes: ['read'] } },
  },
  WORKSPACE_DWD: {
    pattern: { type: 'WORKSPACE_DWD', oauth_config: { token_uri: 'https://auth.acme.test/token' } },
    details: { workspace_dwd: { subject: 'ada@acme.test' } },
    shown: { workspace_dwd: { subject: 'ada@acme.test' } },
  },
  TRUSTED_IDP: {
    pattern: { type: 'TRUSTED_IDP' },
    details: { trusted_idp: { db_user: 'analyst' } },
    shown: { trusted_idp: { db_user: 'analyst' } },
  },
  SMART_FHIR: {
    pattern: { type: 'SMART_FHIR', oauth_config: { issuer: 'https://fhir.acme.test' } },
    details: { oauth_token: { ...OAUTH_TOKEN.oauth_token, access_token: 'secret-fhir-token' } },
    shown: OAUTH_SHOWN,
  },
  NO_AUTH: { pattern: { type: 'NO_AUTH' }, shown: {} },
};

export const TYPES = Object.keys(SAMPLES) as AuthorizationType[];

/** Creates a custom provider. @returns its identifier, which is also the name of its connector */
export async function createConnector(
  server: Pick<TestServer, 'call'>,
  patterns: AuthPattern[],
  { proxyUrl }: { proxyUrl?: string } = {},
): Promise<string> {
  const proxy = proxyUrl && { proxy_enabled: true, proxy_url: proxyUrl };
  return (await createProvider(server, { auth_patterns: patterns, ...proxy })).identifier;
}

/** Creates a provider of a type and an account of it with the sample's credentials. */
export async function createTypedAccount(
  server: Pick<TestServer, 'call'>,
  type: AuthorizationType,
): Promise<TestResponse> {
  const { pattern, details } = SAMPLES[type];
  const connector = await createConnector(server, [pattern]);
  return server.call('POST', '/api/v1/connected_accounts', {
    body: {
      connector,
      identifier: `${type}@acme.test`,
      user_id: 'user-1',
      ...(details && { connected_account: { authorization_details: details } }),
    },
  });
}
