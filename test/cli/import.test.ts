import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../support/child-server.ts';
import type { TestServer } from '../support/server.ts';
import { startTestServer } from '../support/server.ts';
import { tempDir } from '../support/temp-dir.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Acme Desk, version: 1.0.0 }
servers: [{ url: https://api.desk.example }]
paths:
  /tickets/{id}:
    get: { operationId: getTicket, parameters: [{ $ref: 'parts.yaml#/Id' }] }
`;
const PARTS = 'Id: { name: id, in: path, required: true, schema: { type: integer } }\n';
const OVERLAY = `overlay: 1.1.0
info: { title: o, version: 1.0.0 }
actions:
  - target: $.paths['/tickets/{id}'].get
    update: { x-tool: { name: acme_desk_read_ticket } }
`;

describe('valetkey import', () => {
  const folder = tempDir();
  let server: TestServer;

  const file = (name: string) => join(folder.path, name);
  const run = (...args: string[]) => runCommand(['import', ...args], { DATA_DIR: folder.path });

  before(async () => {
    server = await startTestServer({ dataDir: folder.path });
    writeFileSync(file('openapi.yaml'), DOCUMENT);
    writeFileSync(file('parts.yaml'), PARTS);
    writeFileSync(file('o.yaml'), OVERLAY);
  });
  after(async () => {
    await server.stop();
    folder.remove();
  });

  it('prints the changes, then stores them for a running server, which serves the tool immediately', async () => {
    const args = [file('openapi.yaml'), file('parts.yaml'), '--overlay', file('o.yaml')];
    const dry = await run(...args, '--dry-run');
    expect(dry.stdout, dry.stderr).to.include('+ acme_desk_read_ticket').and.to.include('Nothing was stored');
    const stored = await run(...args);
    expect(stored.stdout, stored.stderr).to.include('Provider acme-desk created: https://api.desk.example');
    const again = JSON.parse((await run(...args, '--dry-run', '--json')).stdout);
    expect(again.changes).to.deep.equal({ added: [], changed: [], removed: [], unchanged: 1 });
    const tool = await server.call('GET', '/api/v1/tools/acme_desk_read_ticket');
    expect(tool.status, tool.text).to.equal(200);
    expect(tool.body.tool.input_schema.properties.id.type).to.equal('integer');
  });

  it('reports the faults of a file, and exits with 1', async () => {
    const failed = await run(file('parts.yaml'));
    expect(failed.code).to.equal(1);
    expect(failed.stderr).to.include('exactly one OpenAPI document');
  });
});
