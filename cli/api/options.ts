import { type Command, Option, type OptionValues } from '@commander-js/extra-typings';
import { origin, wholeNumber } from '../options.ts';

/** The options that commands of the API share. */
export const SERVER = new Option('--server <origin>', 'the server; by default VALETKEY_URL, or this machine').argParser(
  origin,
);
const JSON_OUTPUT = new Option('--json', 'print the result as JSON');
const LIMIT = new Option('--limit <number>', 'show at most this many').default(50).argParser(wholeNumber(1, 1_000_000));
const ALL = new Option('--all', 'show all').conflicts('limit');

/** The options that identify an account if its id is not given. */
export const CONNECTOR = new Option('--connector <name>', 'the connection or provider of the account');
export const IDENTIFIER = new Option('--identifier <name>', 'your name for the user, such as an e-mail address');
export const ORGANIZATION = new Option('--organization <id>', 'the organization that owns the account');
export const USER = new Option('--user <id>', 'the user who owns the account');

interface KeyOptions {
  connector?: string | undefined;
  identifier?: string | undefined;
  organization?: string | undefined;
  user?: string | undefined;
}

/** Returns the fields of a request that identify an account. The server reports missing ones. */
export function accountKey(id: string | undefined, { connector, identifier, organization, user }: KeyOptions) {
  return {
    ...(id !== undefined && { id }),
    ...(connector !== undefined && { connector }),
    ...(identifier !== undefined && { identifier }),
    ...(organization !== undefined && { organization_id: organization }),
    ...(user !== undefined && { user_id: user }),
  };
}

/** Adds the options that identify an account, and those of every command that calls the API. */
export function withAccount<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return withServer(command.addOption(CONNECTOR).addOption(IDENTIFIER).addOption(ORGANIZATION).addOption(USER));
}

/** Adds the options of every list. */
export function withPages<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return withServer(command.addOption(LIMIT).addOption(ALL));
}

/** Adds the options of every command that calls the API. */
export function withServer<Args extends unknown[], Options extends OptionValues>(command: Command<Args, Options>) {
  return command.addOption(SERVER).addOption(JSON_OUTPUT);
}
