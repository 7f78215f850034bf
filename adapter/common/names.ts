import { randomInt } from 'node:crypto';

const qualities =
  'able amber brave brisk calm clear clever cosy crisp daring deft eager early fair fancy fleet fond frank fresh gentle glad golden grand happy hardy honest jolly keen kind lively lucky mellow merry mild misty neat noble nimble patient plain plucky polite proud quick quiet rapid ready royal rustic sharp shiny silent silver simple smart snowy solid steady sunny swift tidy tiny true trusty vivid warm wise witty'.split(
    ' ',
  );
const animals =
  'ant badger bat bear beaver bee bison boar camel cat cod crab crane crow deer dove duck eagle eel elk falcon ferret finch fox frog gecko gull hare hawk heron ibis jay koala lark lemur lion lynx magpie marten mole moose moth newt otter owl panda puffin quail rabbit raven robin salmon seal shrew skunk sloth snail sparrow squid stork swan tapir tern tiger toad trout turtle vole walrus weasel whale wolf wombat wren yak zebra'.split(
    ' ',
  );

/** An id a person can say and type, such as `brave-otter-3`. `taken` says which exist already. */
export function readableName(taken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    for (let attempt = 0; attempt < 20; attempt++) {
      const name = `${qualities[randomInt(qualities.length)]}-${animals[randomInt(animals.length)]}-${number}`;
      if (!taken(name)) return name;
    }
  }
}
