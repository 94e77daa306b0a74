import type { CommandTable } from './command-node.ts';

const SERVER = 'Run a server';
const DATA = 'Look after its data';
const USE = 'Use a server';

/** The heading under which the help lists a command. */
export const SECTIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['serve', 'init', 'console', 'environments', 'doctor'].map((name) => [name, SERVER])),
  ...Object.fromEntries(
    ['keys', 'audit', 'backup', 'restore', 'db', 'import', 'accept-loss'].map((name) => [name, DATA]),
  ),
  webhooks: USE,
};

/** The commands. */
export const COMMANDS: CommandTable = {
  serve: { summary: 'start the server', needs: 'files', load: () => import('./commands/serve.ts') },
  init: {
    summary: 'create keys, the first environment and its API client in an empty database that servers share',
    needs: 'files',
    load: () => import('./commands/init.ts'),
  },
  console: {
    summary: 'print a one-time address at which an operator logs in to the console',
    needs: 'files',
    load: () => import('./commands/console.ts'),
  },
  environments: {
    summary: 'show, add and configure environments, which the Host header selects',
    commands: {
      list: { summary: 'list environments', needs: 'files', load: () => import('./commands/environments/list.ts') },
      add: {
        summary: 'add an environment and its first API client',
        needs: 'files',
        load: () => import('./commands/environments/add.ts'),
      },
      set: {
        summary: 'change settings and the brand of an environment',
        needs: 'files',
        load: () => import('./commands/environments/set.ts'),
      },
    },
  },
  doctor: {
    summary: 'compare a connector, and a connection, with what the provider publishes',
    needs: 'files',
    load: () => import('./commands/doctor.ts'),
  },
  keys: {
    summary: 'show, rotate and retire key-encryption keys',
    commands: {
      list: { summary: 'list keys', needs: 'files', load: () => import('./commands/keys/list.ts') },
      rotate: {
        summary: 'make a new active key and encrypt every record with it, while the server runs',
        needs: 'files',
        load: () => import('./commands/keys/rotate.ts'),
      },
      retire: {
        summary: 'remove a key that encrypts nothing any more',
        needs: 'files',
        load: () => import('./commands/keys/retire.ts'),
      },
    },
  },
  audit: {
    summary: 'read and verify the audit log',
    commands: {
      verify: {
        summary: 'check that the audit log and its archive are one complete chain',
        needs: 'files',
        load: () => import('./commands/audit/verify.ts'),
      },
    },
  },
  'verify-audit': {
    summary: 'check that the audit log and its archive are one complete chain',
    needs: 'files',
    hidden: true,
    load: () => import('./commands/audit/verify.ts'),
  },
  backup: {
    summary: 'make a verified copy of the database, while the server runs or not',
    needs: 'files',
    load: () => import('./commands/backup.ts'),
  },
  restore: {
    summary: 'replace the database by a backup, while the server does not run',
    needs: 'files',
    load: () => import('./commands/restore.ts'),
  },
  db: {
    summary: 'change or check the schema of a database server, or copy the data',
    commands: {
      migrate: {
        summary: 'bring the schema to this version',
        needs: 'files',
        load: () => import('./commands/db/migrate.ts'),
      },
      check: {
        summary: 'check the schema, indexes, privileges and settings',
        needs: 'files',
        load: () => import('./commands/db/check.ts'),
      },
      copy: {
        summary: 'copy the data from a file to the database server, or back',
        needs: 'files',
        load: () => import('./commands/db/copy.ts'),
      },
    },
  },
  import: {
    summary: 'convert an OpenAPI document to a provider and its tools, without a server',
    needs: 'files',
    load: () => import('./commands/import.ts'),
  },
  'accept-loss': {
    summary: 'let the server start with what is there, after it refused because data is missing',
    needs: 'files',
    load: () => import('./commands/accept-loss.ts'),
  },
  webhooks: {
    summary: 'list and test webhook endpoints, and forward events to this machine',
    commands: {
      listen: {
        summary: 'forward events to an application on this machine, signed like webhooks',
        needs: 'api',
        load: () => import('./commands/webhooks/listen.ts'),
      },
    },
  },
};
