import { apiKey } from './api-key.ts';
import { basic } from './basic.ts';
import { basicAuth } from './basic-auth.ts';
import { bearerToken } from './bearer-token.ts';
import { boardOAuth1 } from './board-oauth1.ts';
import { custom } from './custom.ts';
import type { DetailsForm } from './forms.ts';
import type { AuthorizationModule } from './module.ts';
import { noAuth } from './no-auth.ts';
import { oauth } from './oauth.ts';
import { oauthM2m } from './oauth-m2m.ts';
import { smartFhir } from './smart-fhir.ts';
import { trustedIdp } from './trusted-idp.ts';
import type { AuthorizationType } from './type.ts';
import { workspaceDwd } from './workspace-dwd.ts';

/**
 * Every authorization type of the contract. Files outside of this folder must not contain the name of a type;
 * scripts/check-type-names.ts lists the exceptions.
 */
export const MODULES = {
  OAUTH: oauth,
  API_KEY: apiKey,
  BASIC_AUTH: basicAuth,
  BEARER_TOKEN: bearerToken,
  CUSTOM: custom,
  BASIC: basic,
  OAUTH_M2M: oauthM2m,
  BOARD_OAUTH1: boardOAuth1,
  WORKSPACE_DWD: workspaceDwd,
  TRUSTED_IDP: trustedIdp,
  SMART_FHIR: smartFhir,
  NO_AUTH: noAuth,
} satisfies Record<AuthorizationType, AuthorizationModule>;

/** @throws TypeError for an unknown type. That is a bug, because requests were validated against the contract */
export function moduleOf(type: string): AuthorizationModule {
  const modules: Partial<Record<string, AuthorizationModule>> = MODULES;
  const found = Object.hasOwn(modules, type) ? modules[type] : undefined;
  if (!found) throw new TypeError(`Unknown authorization type ${type}`);
  return found;
}

/** The names of all types. */
export function authorizationTypes(): AuthorizationType[] {
  return Object.keys(MODULES) as AuthorizationType[];
}

const formsByName = new Map<string, DetailsForm>();

/** @throws TypeError for a form that no type declares */
export function formNamed(name: string): DetailsForm {
  const known = formsByName.get(name);
  if (known) return known;
  const found = authorizationTypes()
    .flatMap((type) => moduleOf(type).forms)
    .find((form) => form.name === name);
  if (!found) throw new TypeError(`Unknown form of details ${name}`);
  formsByName.set(name, found);
  return found;
}
