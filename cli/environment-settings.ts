import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { storeLogo } from '../core/environments/brand.ts';
import { changeSettings } from '../core/environments/settings.ts';
import { ApiError } from '../core/errors.ts';
import { createIds } from '../core/ids.ts';
import type { EnvironmentRow, Store } from '../db/store.ts';
import { BRAND_OPTIONS, BRAND_USAGE, readBrandOptions } from './brand-options.ts';
import { createOperatorEvents, readCatalogue } from './operator-events.ts';
import { UsageError } from './usage-error.ts';

export const SET_USAGE = `set <environment id> [--link-lifetime <seconds>] [--user-verify-url <address>]... [--no-user-verify-urls] [--mcp-login-url <address> | --no-mcp-login-url] ${BRAND_USAGE}`;

/**
 * `valetkey environments set`: changes the settings that an operator may change without an API client. A running server
 * uses them within seconds.
 */
export async function setEnvironment(store: Store, args: string[]): Promise<void> {
  const { id, input } = readOptions(args);
  const environment = (await store.read.environments.list()).find((one) => one.id === id);
  if (!environment) throw new UsageError(`there is no environment ${id}; valetkey environments list shows them`);
  const events = createOperatorEvents(createIds(Date.now, randomBytes), readCatalogue());
  const cause = { environmentId: environment.id, actor: 'operator', requestId: '' };
  await store.write(async (tx) => {
    const current = (await tx.environments.get(environment.id)) as EnvironmentRow;
    await tx.environments.setSettings(current.id, changed(current, input));
    await storeLogo(tx, current, input, Date.now());
    await events.emit(tx, cause, {
      type: 'environment.updated',
      subject: current.id,
      details: { fields: Object.keys(input) },
      data: async (show) => ({ environment: await show.environment() }),
    });
  });
  console.log(`Changed ${Object.keys(input).join(' and ')} of ${environment.id}.`);
}

type Input = Parameters<typeof changeSettings>[1];

function changed(environment: EnvironmentRow, input: Input) {
  try {
    return changeSettings(environment, input);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first] = error.errors ?? [];
    const index = Number(/\d+/.exec(first?.field ?? '')?.[0]);
    const single = input[first?.field as keyof Input];
    // The logo is a long text, so it is named and not repeated.
    const value =
      first?.field === 'logo' ? '--logo' : typeof single === 'string' ? single : input.user_verify_urls?.[index];
    throw new UsageError(`${value} ${first?.message}`);
  }
}

function readOptions(args: string[]): { id: string; input: Input } {
  const { values, positionals } = parse(args);
  const { 'link-lifetime': life, 'user-verify-url': urls, 'no-user-verify-urls': none } = values;
  const seconds = Number(life);
  if (life !== undefined && !(Number.isInteger(seconds) && seconds >= 60 && seconds <= 86_400)) {
    throw new UsageError('--link-lifetime must be from 60 to 86400 seconds');
  }
  if (urls && none) throw new UsageError('--user-verify-url and --no-user-verify-urls cannot be combined');
  const { 'mcp-login-url': loginUrl, 'no-mcp-login-url': noLogin } = values;
  if (loginUrl !== undefined && noLogin)
    throw new UsageError('--mcp-login-url and --no-mcp-login-url cannot be combined');
  const input: Input = {
    ...(life !== undefined && { link_lifetime_seconds: seconds }),
    ...((urls || none) && { user_verify_urls: urls ?? null }),
    ...((loginUrl !== undefined || noLogin) && { mcp_login_url: loginUrl ?? null }),
    ...readBrandOptions(values),
  };
  const [id, ...others] = positionals;
  if (id === undefined || others.length > 0 || Object.keys(input).length === 0)
    throw new UsageError(`use it as: ${SET_USAGE}`);
  return { id, input };
}

function parse(args: string[]) {
  const options = {
    'link-lifetime': { type: 'string' },
    'user-verify-url': { type: 'string', multiple: true },
    'no-user-verify-urls': { type: 'boolean' },
    'mcp-login-url': { type: 'string' },
    'no-mcp-login-url': { type: 'boolean' },
    ...BRAND_OPTIONS,
  } as const;
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
