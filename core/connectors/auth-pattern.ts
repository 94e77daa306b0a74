import type { AuthorizationType } from '../authorization/type.ts';
import type { OAuthDeviations } from './oauth-deviations.ts';

/**
 * Other addresses of an application, for accounts with a certain value in an account field: another region, a sandbox,
 * or a server that the customer runs. A site with neither `value` nor `host` applies to every account that has a value
 * in the field. In connector files only.
 */
export interface Site {
  /** The site applies to accounts whose value equals this text. */
  value?: string;
  /**
   * The site applies to accounts whose value is a host below this name (`*.ghe.com`); `*` is any host, if the
   * connection allows its addresses.
   */
  host?: string;
  /**
   * Maps the beginning of an address in the connector file to its replacement at this site. {{field}} is the account's
   * value.
   */
  addresses: Readonly<Record<string, string>>;
}

export interface FieldPlacement {
  in: 'header' | 'query' | 'cookie' | 'body';
  name: string;
}

/** One value that a user enters to connect an account. */
export interface AuthField {
  field_name: string;
  label: string;
  input_type: 'text' | 'password' | 'select' | 'textarea';
  options?: string[];
  /** The text that users see for an option, by option. */
  option_names?: Record<string, string>;
  hint?: string;
  required?: boolean;
  /** A pattern for the whole value; linear-pattern.ts describes the language. */
  pattern?: string;
  is_path_param?: boolean;
  placement?: FieldPlacement;
  /** Connector files only, for account fields. */
  sites?: Site[];
}

export interface FieldMutation {
  prefix?: string;
  suffix?: string;
  default?: string;
}

export interface ScopeEntry {
  scope: string;
  display_name: string;
  description?: string;
  required?: boolean;
}

/**
 * The OAuth configuration of a provider. `OAuthDeviations` is for connector files only; the contract does not allow its
 * members.
 */
export interface OAuthConfig extends OAuthDeviations {
  /**
   * The names of those members of this configuration whose values an MCP server published. An operator wrote the
   * others.
   */
  learned?: string[];
  authorize_uri?: string;
  token_uri?: string;
  user_info_uri?: string;
  revocation_uri?: string;
  issuer?: string;
  available_scopes?: ScopeEntry[];
  scope_separator?: string;
  pkce?: 'required' | 'supported' | 'none';
  client_auth_method?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';
  extra_authorize_params?: Record<string, string>;
  extra_token_params?: Record<string, string>;
  token_request_format?: 'form' | 'json';
  identity_field?: string;
  /** BOARD_OAUTH1: the endpoint for temporary credentials. */
  request_token_uri?: string;
  signature_method?: 'HMAC-SHA1' | 'HMAC-SHA256' | 'PLAINTEXT';
  signature_placement?: 'header' | 'query' | 'body';
  realm?: string;
  /**
   * BOARD_OAUTH1 without `request_token_uri`: the query parameters of `authorize_uri` for the client's key and for the
   * return address.
   */
  key_parameter?: string;
  return_parameter?: string;
  /** TRUSTED_IDP: the service name that signatures contain. */
  signing_service?: string;
  /**
   * TRUSTED_IDP: the audience of identity tokens (JWTs that identify an account to a cloud) if the connection has no
   * client id at the cloud.
   */
  identity_audience?: string;
}

/** One way to authenticate, as in `auth_patterns` of a provider or a connector file. */
export interface AuthPattern {
  type: AuthorizationType;
  display_name?: string;
  description?: string;
  /** The page of the provider on which users make or find the credential. */
  key_page?: string;
  fields?: AuthField[];
  account_fields?: AuthField[];
  oauth_config?: OAuthConfig;
  is_mcp?: boolean;
  auth_header_key_override?: string;
  /** Connector files only: the scheme in place of Bearer; empty to send the value alone. */
  auth_scheme?: string;
  auth_field_mutations?: Record<string, FieldMutation>;
  placement?: FieldPlacement;
}

/**
 * Whether the input type of a field is one for secrets. Fields of other input types can be secret too: `secretFieldsOf`
 * (core/authorization/fields.ts) returns all secret fields.
 */
export function isSecretField(field: AuthField): boolean {
  return field.input_type === 'password' || field.input_type === 'textarea';
}
