import { randomBytes } from 'node:crypto';
import type { Command } from '@commander-js/extra-typings';
import { storeLogo } from '../../../core/environments/brand.ts';
import { changeSettings } from '../../../core/environments/settings.ts';
import { ApiError } from '../../../core/errors.ts';
import { createIds } from '../../../core/ids.ts';
import type { EnvironmentRow, Store } from '../../../db/store.ts';
import { openStorage } from '../../open-storage.ts';
import { createOperatorEvents, readCatalogue } from '../../operator-events.ts';
import { repeated, wholeNumber } from '../../options.ts';
import { examples, JSON_FLAG, JSON_HELP, printResult, shown } from '../../output/print.ts';
import { UsageError } from '../../usage-error.ts';
import { type BrandOptions, readBrandOptions } from './brand-options.ts';

type Input = Parameters<typeof changeSettings>[1];

/**
 * `valetkey environments set`: changes the settings that an operator may change without an API client. A running server
 * uses them within seconds.
 */
export function configure(command: Command): void {
  command
    .argument('<environment-id>', 'an environment of `valetkey environments list`')
    .option('--link-lifetime <seconds>', 'how long links are valid', wholeNumber(60, 86_400))
    .option('--user-verify-url <address>', 'where users return to after a link; can be repeated', repeated)
    .option('--no-user-verify-urls', 'remove all of these addresses')
    .option('--mcp-login-url <address>', 'the page at which users of MCP clients log in')
    .option('--no-mcp-login-url', 'remove this page')
    .option('--application-name <name>', 'the name that users see; an empty value removes it, as in the options below')
    .option('--logo <file>', 'a .png, .jpg or .svg file')
    .option('--accent-color <#rrggbb>', 'the colour of buttons')
    .option('--support-url <address>', 'where users find help')
    .option('--privacy-url <address>', 'your privacy policy')
    .option('--terms-url <address>', 'your terms of service')
    .option(JSON_FLAG, JSON_HELP)
    .addHelpText(
      'after',
      examples(
        'environments set env_… --user-verify-url https://app.example.com/verify --link-lifetime 3600',
        "environments set env_… --application-name Contoso --logo logo.svg --accent-color '#0b6e4f'",
      ),
    )
    .action(async (id, options) => {
      const input = readInput(options);
      const names = Object.keys(input);
      if (names.length === 0) throw new UsageError('give at least one setting, for example --link-lifetime');
      const { store } = await openStorage();
      try {
        await change(store, id, input);
      } finally {
        await store.close();
      }
      printResult(options, { id, changed: names }, () => shown`Changed ${names.join(' and ')} of ${id}.`);
    });
}

interface Options extends BrandOptions {
  linkLifetime?: number | undefined;
  userVerifyUrl?: string[] | undefined;
  userVerifyUrls: boolean;
  mcpLoginUrl?: string | boolean | undefined;
}

function readInput(options: Options): Input {
  const { linkLifetime, userVerifyUrl, userVerifyUrls, mcpLoginUrl } = options;
  if (userVerifyUrl && !userVerifyUrls)
    throw new UsageError('--user-verify-url and --no-user-verify-urls cannot be combined');
  return {
    ...(linkLifetime !== undefined && { link_lifetime_seconds: linkLifetime }),
    ...((userVerifyUrl || !userVerifyUrls) && { user_verify_urls: userVerifyUrl ?? null }),
    ...(typeof mcpLoginUrl === 'string' && { mcp_login_url: mcpLoginUrl }),
    ...(mcpLoginUrl === false && { mcp_login_url: null }),
    ...readBrandOptions(options),
  };
}

async function change(store: Store, id: string, input: Input): Promise<void> {
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
}

function changed(environment: EnvironmentRow, input: Input) {
  try {
    return changeSettings(environment, input);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const [first] = error.errors ?? [];
    const index = Number(/\d+/.exec(first?.field ?? '')?.[0]);
    const single = input[first?.field as keyof Input];
    // The logo is a long data URL, so the error names the option instead of the value.
    const value =
      first?.field === 'logo' ? '--logo' : typeof single === 'string' ? single : input.user_verify_urls?.[index];
    throw new UsageError(`${value} ${first?.message}`);
  }
}
