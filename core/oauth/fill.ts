import { atSite, type ChosenSite, type SITE } from '../connectors/sites.ts';
import { Secret } from '../secret.ts';
import { OAuthConfigError } from './config-error.ts';

/** The values of placeholders, by name. */
export type PlaceValues = Readonly<Record<string, string | Secret>> & { readonly [SITE]?: ChosenSite };

const PLACE = /\{\{([a-z][a-z0-9_]{0,39})\}\}/g;

/**
 * Replaces the {{name}} placeholders in a text. If the account has a site (replacements for the connector's addresses,
 * for example those of a region), an address of the provider at the beginning of the text is first replaced by the
 * address of that site.
 *
 * @throws OAuthConfigError naming a placeholder without a value
 */
export function fillText(text: string, values: PlaceValues): string {
  return atSite(text, values).replace(PLACE, (_place, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined)
      throw new OAuthConfigError(`The account has no value for ${name}, which its provider requires.`, {
        faultyPart: 'account',
      });
    return value instanceof Secret ? value.reveal() : value;
  });
}

/** Replaces the placeholders in every text of a record. */
export function fillTexts(texts: Readonly<Record<string, string>> = {}, values: PlaceValues): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fillText(text, values)]));
}

/** Replaces the placeholders in every text of a JSON document. Member names are not changed. */
export function fillJson(value: unknown, values: PlaceValues): unknown {
  if (typeof value === 'string') return fillText(value, values);
  if (Array.isArray(value)) return value.map((item) => fillJson(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillJson(item, values)]));
}
