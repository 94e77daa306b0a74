import { checkAuthPatterns } from '../core/connectors/check-patterns.ts';
import { isCallerHeader } from '../core/connectors/header-names.ts';
import type { Connector } from '../core/connectors/provider.ts';
import { accountReferences } from '../core/tools/references.ts';
import type { ToolFile } from './catalogue-files.ts';

/** Checks the rules that the schema of a connector cannot express; returns one sentence per violation. */
export function checkConnector(connector: Connector, fileName: string, tools: readonly ToolFile['data'][]): string[] {
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
    const asked = (pattern.account_fields ?? []).map((field) => field.field_name);
    const brought = (pattern.oauth_config?.account_values ?? []).map((value) => value.name);
    if (api.base_url_input !== undefined && ![...asked, ...brought].includes(api.base_url_input)) {
      problems.push(`auth_patterns[${index}]: no account field asks for ${api.base_url_input}, and no flow brings it`);
    }
  }
  return problems;
}
