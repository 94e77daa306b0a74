-- The number of the newest migration that the program of the instance knows.
alter table instances add column schema_number bigint not null default 3;

-- The number of the newest migration that a program must know to work with the database after this one; null if it is this one.
alter table migrations add column readable_from bigint;
