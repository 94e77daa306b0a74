/** Hours since 1970, UTC: `fromHour` is inclusive, `beforeHour` exclusive. */
export interface Hours {
  fromHour: number;
  beforeHour: number;
}
