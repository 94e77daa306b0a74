import type { OperatorRole } from '../../db/store.ts';

/** The settings for the login of operators at an OpenID provider, without the client secret. */
export interface CompanyLoginSettings {
  issuer: string;
  clientId: string;
  scopes: readonly string[];
  nameClaim: string;
  roleClaim: string;
  roleValues: Readonly<Partial<Record<OperatorRole, readonly string[]>>>;
}

type Env = Readonly<Record<string, string | undefined>>;

const PREFIX = 'VALETKEY_CONSOLE_OIDC_';
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Reads the settings for the login of operators.
 *
 * @returns null if no issuer is set
 * @throws Error naming the variable
 */
export function parseCompanyLogin(env: Env): CompanyLoginSettings | null {
  const value = (name: string) => env[PREFIX + name] || undefined;
  const issuer = value('ISSUER');
  if (issuer === undefined) {
    const other = Object.keys(env).find((name) => name.startsWith(PREFIX) && env[name]);
    if (other) throw new Error(`${other} requires ${PREFIX}ISSUER`);
    return null;
  }
  const url = URL.parse(issuer);
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!isSecure || /[?#@]/.test(issuer))
    throw new Error(`${PREFIX}ISSUER must be an https URL without a query, a fragment or a user name`);
  const clientId = value('CLIENT_ID');
  if (clientId === undefined) throw new Error(`${PREFIX}CLIENT_ID is required with ${PREFIX}ISSUER`);
  return {
    issuer,
    clientId,
    scopes: [...new Set(['openid', ...(value('SCOPES') ?? 'email').split(/\s+/).filter(Boolean)])],
    nameClaim: value('NAME_CLAIM') ?? 'email',
    roleClaim: value('ROLE_CLAIM') ?? 'groups',
    roleValues: parseRoles(value('ROLES')),
  };
}

const ROLES: Readonly<Record<string, OperatorRole>> = { owner: 'OWNER', editor: 'EDITOR', viewer: 'VIEWER' };

/** Parses `owner=platform-admins;editor=developers;editor=support`. */
function parseRoles(text: string | undefined): Partial<Record<OperatorRole, string[]>> {
  const example = 'such as owner=platform-admins;viewer=support';
  if (text === undefined) throw new Error(`${PREFIX}ROLES is required with ${PREFIX}ISSUER, ${example}`);
  const roles: Partial<Record<OperatorRole, string[]>> = {};
  for (const part of text.split(';')) {
    const [, name = '', value] = /^\s*(\w+)=(.+?)\s*$/.exec(part) ?? [];
    const role = Object.hasOwn(ROLES, name) ? ROLES[name] : undefined;
    if (role === undefined || value === undefined)
      throw new Error(`${PREFIX}ROLES must list roles (owner, editor, viewer) with values of the claim, ${example}`);
    roles[role] = [...(roles[role] ?? []), value];
  }
  return roles;
}
