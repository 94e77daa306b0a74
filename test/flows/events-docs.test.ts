import { expect } from 'chai';
import { eventsOf, objectAt, resolve } from '../../scripts/openapi-document.ts';
import { contract } from '../contract/contract.ts';
import { readPage } from './markdown.ts';

describe('docs/events.md', () => {
  it('lists every event of the contract with its summary and the members of its data', () => {
    const rows = [...readPage('docs/events.md').matchAll(/^\| `([a-z_.]+)` \| (.+?) \| (.+?) \|$/gm)];
    const listed = rows.map(([, type, summary, members]) => [type, summary, members]);
    const declared = eventsOf(contract).map(({ type, definition, media }) => {
      const { data } = objectAt(resolve(contract, media['schema']), 'properties');
      const members = Object.keys(objectAt(resolve(contract, data), 'properties'));
      return [type, definition['summary'], members.map((member) => `\`${member}\``).join(', ')];
    });
    expect(listed).to.deep.equal(declared);
  });
});
