import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ERRORS } from '../../core/errors.ts';
import { TOOL_ERROR_KINDS } from '../../core/tools/outcome.ts';
import { objectAt } from '../../scripts/openapi-document.ts';
import { contract } from './contract.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8');

/** Returns the rows of the table below a heading, as lists of cells. */
function tableUnder(heading: string): string[][] {
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );
}

const valuesOf = (schema: string) =>
  objectAt(objectAt(contract, 'components'), 'schemas')[schema] as { enum: string[] };

describe('docs/errors.md', () => {
  const rows = tableUnder('Codes');

  it('lists exactly the error codes of core/errors.ts, in the same order', () => {
    expect(rows.map(([code]) => code)).to.deep.equal(Object.keys(ERRORS).map((code) => `\`${code}\``));
  });

  it('states the status of each code', () => {
    expect(rows.map(([, status]) => Number(status))).to.deep.equal(Object.values(ERRORS).map(({ status }) => status));
  });

  it('explains in sentences when each error happens and what to do', () => {
    for (const cells of rows) {
      expect(cells).to.have.length(4);
      for (const cell of cells.slice(2)) expect(cell, cells[0]).to.match(/^(`|\p{Lu}|\d).{9,}\.$/u);
    }
  });

  it('explains every kind of tool error', () => {
    const kinds = tableUnder('When a tool fails').map(([kind]) => kind);
    expect(kinds).to.deep.equal(TOOL_ERROR_KINDS.map((kind) => `\`${kind}\``));
  });

  it('explains every error that the token endpoint can return', () => {
    const errors = objectAt(valuesOf('OAuthError') as never, 'properties')['error'] as { enum: string[] };
    const explained = tableUnder('The token endpoint').map(([error]) => error?.slice(1, -1));
    expect(errors.enum).to.include.members(explained as string[]);
    expect(errors.enum.filter((error) => !explained.includes(error))).to.deep.equal(['unauthorized_client']);
  });

  it('has the same codes as the contract', () => {
    expect(valuesOf('ErrorCode').enum.toSorted()).to.deep.equal(Object.keys(ERRORS).toSorted());
  });
});
