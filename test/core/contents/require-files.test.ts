import { expect } from 'chai';
import { STORED, TOOL_REQUEST } from '../../../core/budgets.ts';
import { requireFiles } from '../../../core/contents/stored-files.ts';
import { environmentId } from '../../../db/store.ts';

const OWNER = { id: 'ca_1', organizationId: 'org', userId: 'ada' };

describe('requireFiles (H4)', () => {
  let looks: number;
  const read = (size: number) => ({
    storedContents: {
      describe: async () => {
        looks++;
        return { accountId: OWNER.id, organizationId: 'org', userId: 'ada', size };
      },
    },
  });
  const named = (count: number) => Array.from({ length: count }, (_, at) => ({ field: `files[${at}]`, id: 'file_1' }));
  const check = (size: number, count: number) =>
    requireFiles(read(size) as never, environmentId('env_00000000000000000000000000'), OWNER, named(count), 0).then(
      () => 'ok',
      (error) => error.message,
    );

  beforeEach(() => {
    looks = 0;
  });

  it('H4: accepts a limited number of files, and reads none if the list is longer', async () => {
    expect(await check(1, TOOL_REQUEST.files)).to.equal('ok');
    looks = 0;
    expect(await check(1, TOOL_REQUEST.files + 1)).to.equal(
      'tool_input.files[20] exceeds the limit of 20 stored files in one call',
    );
    expect(looks).to.equal(0);
  });

  it('H4: counts a file each time it is named', async () => {
    const half = STORED.callFilesBytes / 2;
    expect(await check(half, 2)).to.equal('ok');
    expect(await check(half, 3)).to.match(/^tool_input\.files\[2\] makes the files of this call larger/);
  });
});
