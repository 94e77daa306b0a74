import { join } from 'node:path';
import { expect } from 'chai';
import { findViolations, violationsIn } from '../../scripts/check-imports.ts';

const ROOT = join(import.meta.dirname, '../..');
const violations = (file: string, text: string) => violationsIn(ROOT, file, text);

describe('the import rules', () => {
  it('hold in this repository', () => {
    expect(findViolations(ROOT)).to.deep.equal([]);
  });

  describe('the import rules allow', () => {
    for (const [file, text] of [
      ['core/accounts/find.ts', "import { pageTokens } from '../paging.ts';"],
      ['core/accounts/find.ts', "import type { AccountRow } from '../../db/store.ts';"],
      ['core/net/gate.ts', "import { ApiError } from '../errors.ts';"],
      ['core/net/egress.ts', "import { Agent } from 'undici';"],
      ['core/oauth/grant.ts', "import * as oauth from 'oauth4webapi';"],
      ['handlers/tools/getTool.ts', "import type { Handler } from '../../http/contract.ts';"],
      ['http/pipeline/pipeline.ts', "import { handlers } from '../handlers/index.ts';"],
      ['http/docs.ts', "import express from 'express';"],
      ['db/drizzle.ts', "import { eq } from 'drizzle-orm';"],
      ['db/accounts/columns.ts', "import { newId } from '../../core/ids.ts';"],
      ['cli/serve.ts', "import { startServer } from '../http/server.ts';"],
      ['web/page.ts', "import { html } from './html.ts';"],
      ['web/page.ts', "import escape from 'escape-html';"],
      ['test/http/x.test.ts', "import express from 'express';"],
      ['test/http/x.test.ts', "import fc from 'fast-check';"],
      ['web/console/src/x.tsx', "import { useState } from 'react';"],
      ['core/keys/x.ts', "import { join } from 'node:path';"],
      ['README.md', "import { anything } from './core/net/gate.ts';"],
    ] as const) {
      it(`${file}: ${text}`, () => expect(violations(file, text)).to.deep.equal([]));
    }
  });

  describe('the import rules reject', () => {
    const cases: [what: string, file: string, text: string, target: string][] = [
      [
        'core that knows http',
        'core/accounts/find.ts',
        "import { readBody } from '../../http/body/body.ts';",
        'http/body/body.ts',
      ],
      [
        'core that knows handlers',
        'core/paging.ts',
        "import { handlers } from '../handlers/index.ts';",
        'handlers/index.ts',
      ],
      [
        'core that knows the contract',
        'core/paging.ts',
        "import type { paths } from '../generated/api.d.ts';",
        'generated/api.d.ts',
      ],
      [
        'the vault that knows accounts',
        'core/vault/vault.ts',
        "import { x } from '../accounts/find.ts';",
        'core/accounts/find.ts',
      ],
      [
        'the vault that knows the database',
        'core/vault/vault.ts',
        "import type { X } from '../../db/store.ts';",
        'db/store.ts',
      ],
      [
        'OAuth that knows accounts',
        'core/oauth/grant.ts',
        "import { x } from '../accounts/find.ts';",
        'core/accounts/find.ts',
      ],
      [
        'OAuth that knows the vault',
        'core/oauth/grant.ts',
        "import { x } from '../vault/vault.ts';",
        'core/vault/vault.ts',
      ],
      [
        'OAuth that opens the network',
        'core/oauth/grant.ts',
        "import { x } from '../net/egress.ts';",
        'core/net/egress.ts',
      ],
      ['egress that knows tools', 'core/net/gate.ts', "import { x } from '../tools/tool.ts';", 'core/tools/tool.ts'],
      [
        'tools that know egress',
        'core/tools/execute.ts',
        "import { x } from '../net/egress.ts';",
        'core/net/egress.ts',
      ],
      [
        'the database that knows the interface',
        'db/accounts/columns.ts',
        "import type { X } from '../../http/contract.ts';",
        'http/contract.ts',
      ],
      [
        'the database that knows an engine',
        'db/store.ts',
        "import { x } from '../core/accounts/find.ts';",
        'core/accounts/find.ts',
      ],
      [
        'a repository that knows its engine',
        'db/connections.ts',
        "import { x } from './sqlite/open.ts';",
        'db/sqlite/open.ts',
      ],
      [
        'a command that knows the engine',
        'cli/backup.ts',
        "import type { X } from '../db/sqlite/backup/manifest.ts';",
        'db/sqlite/backup/manifest.ts',
      ],
      [
        'a handler that knows the pipeline',
        'handlers/index.ts',
        "import { x } from '../http/pipeline/pipeline.ts';",
        'http/pipeline/pipeline.ts',
      ],
      ['a page that knows anything', 'web/page.ts', "import { x } from '../core/errors.ts';", 'core/errors.ts'],
      [
        'an example that knows the inside',
        'examples/notes.ts',
        "import { x } from '../core/errors.ts';",
        'core/errors.ts',
      ],
      [
        'anything that knows a test',
        'http/body/body.ts',
        "import { x } from '../../test/support/server.ts';",
        'test/support/server.ts',
      ],
      [
        'a folder that is named alike',
        'core/tools/tool.ts',
        "import { x } from '../connectors-of-others/x.ts';",
        'core/connectors-of-others/x.ts',
      ],
      ['an import for its effect', 'db/store.ts', "import '../http/server.ts';", 'http/server.ts'],
      ['an export from elsewhere', 'db/store.ts', "export { x } from '../http/server.ts';", 'http/server.ts'],
      [
        'an import on several lines',
        'db/store.ts',
        "import {\n  a,\n  b,\n} from '../http/server.ts';",
        'http/server.ts',
      ],
      ['an import while it runs', 'db/store.ts', "const x = await import('../http/server.ts');", 'http/server.ts'],
      ['express outside of http', 'handlers/index.ts', "import express from 'express';", 'express'],
      ['SQL outside of db', 'core/accounts/find.ts', "import { sql } from 'drizzle-orm/sqlite-core';", 'drizzle-orm'],
      ['a socket outside of core/net', 'core/tools/execute.ts', "import { connect } from 'node:net';", 'node:net'],
      ['a request outside of core/net', 'core/oauth/grant.ts', "import got from 'got';", 'got'],
      ['a server outside of http', 'core/accounts/find.ts', "import { createServer } from 'node:http';", 'node:http'],
      ['a package of development in a command', 'cli/api/x.ts', "import { expect } from 'chai';", 'chai'],
      ['a package of development in an example', 'examples/x.ts', "import fc from 'fast-check';", 'fast-check'],
      ['JWTs outside of core/tokens', 'http/pipeline/bearer.ts', "import jwt from 'jsonwebtoken';", 'jsonwebtoken'],
    ];
    for (const [what, file, text, target] of cases) {
      it(what, () => {
        const found = violations(file, text);
        expect(found).to.have.length(1);
        expect(found[0]).to.match(new RegExp(`^${file} imports ${target}`));
      });
    }
  });

  it('report every import that breaks a rule', () => {
    const text = [
      "import express from 'express';",
      "import { x } from '../http/server.ts';",
      "import { y } from './store.ts';",
    ];
    expect(violations('db/page.ts', text.join('\n'))).to.have.length(2);
  });
});
