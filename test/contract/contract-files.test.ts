import { dirname } from 'node:path';
import { expect } from 'chai';
import { SPEC_ROOT } from '../../scripts/bundle.ts';
import { versionProblems } from '../../scripts/contract-files.ts';
import { placed } from '../../scripts/contract-places.ts';
import { contract } from './contract.ts';

const FOLDER = dirname(SPEC_ROOT);

describe('problems of the contract', () => {
  it('include a version that differs from that of the package', () => {
    expect(versionProblems(contract)).to.deep.equal([]);
    const other = { ...contract, info: { title: 'x', version: '9.9.9' } };
    expect(versionProblems(other).join()).to.match(/info\.version is 9\.9\.9, but package\.json has \d/);
  });

  it('have the file, line and column of the operation or component', () => {
    expect(placed('listTools: declares default', FOLDER)).to.match(
      /^spec\/paths\/tools\.yaml:\d+:5: listTools: declares default$/,
    );
    expect(placed('/components/schemas/Health: an object', FOLDER)).to.match(/^spec\/schemas\/service\.yaml:\d+:1: \//);
    expect(placed('/components/parameters/PageSize/schema: x', FOLDER)).to.match(/^spec\/parameters\.yaml:\d+:1: \//);
    expect(placed('get /api/v1/jobs: has no operationId', FOLDER)).to.match(/^spec\/openapi\.yaml:\d+:3: get \//);
    expect(placed('account.unknown: x', FOLDER)).to.equal('account.unknown: x');
    expect(placed('job.retried: x', FOLDER)).to.match(/^spec\/openapi\.yaml:\d+:3: job\.retried: x$/);
    expect(placed('API_KEY: must be in PascalCase', FOLDER)).to.equal('API_KEY: must be in PascalCase');
  });
});
