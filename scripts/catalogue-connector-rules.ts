import { AddressError, addressPlaces } from '../core/connectors/address-template.ts';
import type { AuthPattern } from '../core/connectors/auth-pattern.ts';
import { checkAuthPatterns } from '../core/connectors/check-patterns.ts';
import { isCallerHeader } from '../core/connectors/header-names.ts';
import { beginsWith } from '../core/connectors/sites.ts';
import { accountReferences } from '../core/tools/references.ts';
import type { ConnectorFile, ToolFile } from './catalogue-files.ts';

/** Checks the rules that the schema of a connector cannot express; returns one sentence per violation. */
export function checkConnector(
  connector: ConnectorFile,
  fileName: string,
  tools: readonly ToolFile['data'][],
): string[] {
  const { identifier, api, auth_patterns } = connector;
  const problems: string[] = [];
  if (identifier !== fileName) problems.push(`identifier ${identifier} differs from the file's name`);
  for (const name of Object.keys(api.headers ?? {})) {
    if (!isCallerHeader(name)) problems.push(`api.headers: ${name} cannot be set by a connector`);
  }

  const usedElsewhere = new Set(tools.flatMap((tool) => [...accountReferences(tool)]));
  const base = { baseUrl: api.base_url, baseUrlField: 'api.base_url', usedElsewhere };
  problems.push(...checkAuthPatterns(auth_patterns, base).map(({ field, message }) => `${field} ${message}`));

  for (const [index, pattern] of auth_patterns.entries()) {
    const scopes = (pattern.oauth_config?.available_scopes ?? []).map(({ scope }) => scope);
    const twice = scopes.filter((scope, at) => scopes.indexOf(scope) !== at);
    problems.push(...twice.map((scope) => `auth_patterns[${index}]: the scope ${scope} is listed twice`));
    problems.push(...checkSites(connector, pattern).map((problem) => `auth_patterns[${index}]: ${problem}`));
    const asked = (pattern.account_fields ?? []).map((field) => field.field_name);
    const brought = (pattern.oauth_config?.account_values ?? []).map((value) => value.name);
    if (api.base_url_input !== undefined && ![...asked, ...brought].includes(api.base_url_input)) {
      problems.push(`auth_patterns[${index}]: no account field asks for ${api.base_url_input}, and no flow brings it`);
    }
  }
  return problems;
}

/**
 * Checks the sites of account fields: replacements for the connector's addresses, for example for another region of the
 * provider. Each must replace an address that the file contains. A host that a user enters must be the whole end of the
 * new host; only a fixed label such as `api.` may precede it.
 */
function checkSites({ api }: ConnectorFile, { account_fields: fields = [], oauth_config }: AuthPattern): string[] {
  const texts = textsIn([api.base_url, oauth_config]);
  return fields.flatMap(({ field_name: field, sites = [] }) =>
    sites.flatMap(({ host, addresses }) =>
      Object.entries(addresses).flatMap(([from, to]) => {
        const problems: string[] = [];
        if (!texts.some((text) => beginsWith(text, from))) problems.push(`no address begins with ${from}`);
        if (beginsWith(to, from)) problems.push(`${to} begins with ${from}`);
        const [, before = '', after = ''] =
          /^https:\/\/(.*)\{\{[a-z_]+\}\}(.*)$/.exec(host === undefined ? '' : to) ?? [];
        const isWhole = to.includes(`{{${field}}}`) && /^([a-z-]+\.)?$/.test(before) && /^(\/|$)/.test(after);
        if (host !== undefined && !isWhole) problems.push(`${to} must have {{${field}}} as its host`);
        if (host === '*' && before !== '') problems.push(`${to} must not add to a host that a customer runs`);
        const example = host === undefined ? to : to.replace(`{{${field}}}`, 'host.example.com');
        return [...problems, ...addressProblem(example)];
      }),
    ),
  );
}

function addressProblem(address: string): string[] {
  try {
    addressPlaces(address);
    return [];
  } catch (error) {
    if (error instanceof AddressError) return [`${address}: ${error.message}`];
    throw error;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
