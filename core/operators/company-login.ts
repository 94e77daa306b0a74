import type { OperatorRole } from '../../db/store.ts';
import type { OpenIdClient } from '../oauth/openid-login.ts';

/** How operators log in at the OpenID provider of their company. */
export interface CompanyLogin extends OpenIdClient {
  /** The claim that names the operator in the audit log. */
  nameClaim: string;
  /** The claim that determines the role. Its value is a text or a list of texts. */
  roleClaim: string;
  /** The values of that claim for each role. An operator with values of several roles gets the highest one. */
  roleValues: Readonly<Partial<Record<OperatorRole, readonly string[]>>>;
}

export type KnownOperator =
  | { ok: true; operator: string; role: OperatorRole }
  /** The message names the claim, never its value. */
  | { ok: false; message: string };

const NAME = /^[^\p{Cc}]{1,100}$/u;
const RANKED: readonly OperatorRole[] = ['OWNER', 'EDITOR', 'VIEWER'];

/**
 * Reads the operator and the role from the verified claims of an id_token. An operator without a claim value that is
 * mapped to a role is rejected, because there is no default role. An email address identifies an operator only if the
 * provider has verified it (OpenID Connect Core §5.7).
 */
export function operatorOf(
  { nameClaim, roleClaim, roleValues }: CompanyLogin,
  claims: Readonly<Record<string, unknown>>,
): KnownOperator {
  const name = Object.hasOwn(claims, nameClaim) ? claims[nameClaim] : undefined;
  const isVerified = nameClaim !== 'email' || claims['email_verified'] === true;
  if (typeof name !== 'string' || !NAME.test(name) || !isVerified)
    return {
      ok: false,
      message: `The login provider sent no ${isVerified ? 'valid' : 'verified'} value of the claim ${nameClaim}.`,
    };
  const held = Object.hasOwn(claims, roleClaim) ? [claims[roleClaim]].flat() : [];
  const role = RANKED.find((each) => roleValues[each]?.some((value) => held.includes(value)));
  if (role === undefined)
    return { ok: false, message: `VALETKEY_CONSOLE_OIDC_ROLES maps no value of the claim ${roleClaim} to a role.` };
  return { ok: true, operator: name, role };
}
