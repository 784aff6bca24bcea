import { expect, test } from 'vitest';
import { closestTool } from './closest-tool.ts';

test.each<[string, string, readonly string[], string | undefined]>([
  ['case', 'Read_File', ['read_file', 'write_file'], 'read_file'],
  ['camel case', 'readFile', ['read_file'], 'read_file'],
  ['separators', 'read-file', ['read_file'], 'read_file'],
  ['none', 'readfile', ['read_file'], 'read_file'],
  ['a namespace with a dot', 'functions.read_file', ['read_file'], 'read_file'],
  ['a namespace of MCP', 'mcp__files__read_file', ['read_file'], 'read_file'],
  ['a namespace with a colon', 'default_api:readFile', ['read_file'], 'read_file'],
  ['a letter left out', 'serch_mail', ['search_mail'], 'search_mail'],
  ['a letter put in', 'searchh_mail', ['search_mail'], 'search_mail'],
  ['letters swapped', 'saerch_mail', ['search_mail'], 'search_mail'],
  ['two words wrong by one letter each', 'serch_calender', ['search_calendar'], 'search_calendar'],
  ['the same letters as two names', 'readfile', ['read_file', 'readFile'], undefined],
  ['a slip away from two names', 'searcj_mail', ['search_mail', 'searcy_mail'], undefined],
  ['two letters of one word', 'sarhc_mail', ['search_mail'], undefined],
  ['a short word', 'get_user', ['set_user'], undefined],
  ['the first letter', 'export_data', ['import_data'], undefined],
  ['a prefix', 'unlock_door', ['lock_door'], undefined],
  ['a word more', 'read_file_lines', ['read_file'], undefined],
  ['the words in another order', 'file_read', ['read_file'], undefined],
  ['nothing alike', 'refund', ['transfer'], undefined],
  ['no letters at all', '...', ['__', 'a'], undefined],
  ['another script', '写文件', ['读文件'], undefined],
])('%s: %s', (_, name, offered, expected) => expect(closestTool(name, offered)).toBe(expected));
