"""Words of everyday text that are on lists of names as well, gathered by reading those lists."""

from __future__ import annotations

from typing import Final

# First names and surnames that are words, months, places or titles too: alone they are no name.
COMMON: Final = frozenset(
    """
    abbey abbott able adler africa ahorn alder alpha alpine amber america amor an andes angel anger
    angle ankara apple april archer aria arm armour arsenal art artist ash asia aspen atlas august
    aura austin autumn avenue avril baker ball banks barber bark barn baron bass bauer bay beach
    bean bear beauty beck bee bell belle bench berg berlin berry best beta bill bird bishop black
    blank bliss block bloom blossom blue bold bolt bond boot booth bow bowl boy brand brandy brave
    bread breeze brett bridge bright brook brooke brooklyn brooks brown bruce buck bud buddy bull
    burg burger burn burns bush butler cain cake can candy cane cannon card carpenter carpet
    carrier carter case cash castle cat cedar chance chandler chanel chapel chapman charity charm
    chase chef chelsea cherry chester chi china chip christian church cinnamon city clay clear
    clement cliff close cloud clover coach coal cole colt constance cook coop cooper coral cord
    corner corona cost cotton court coward crane crew crisp cross crow crown cruz crystal cup curry
    cyan dahlia daisy dakota dale dallas dame dane dark dawn day deal dean dear december deck deep
    deer delta denim denver desert destiny deutsch diamond dick dickens dies diesel dion dior dixie
    do dollar dolly don dot dove drake dream drew duke dusty dutch eagle earl early earth east
    ebony echo eden elder elm else em emerald england english ernst essen essence eternity ever
    fair faith falcon fall fame fancy farm farmer fast fear feather february fee field fields finch
    fine finn fire fischer fish fisher flint flora florence florida flower floyd fly forbes force
    ford forest fort fox france francs frank franken freed freedom french fresh friend frost fuchs
    fuller funk gabel galaxy gale garden gardener garland gay gem gene general genesis gentle
    georgia german germany gift ginger glory gold golden good goose gore grace grand grant graph
    grass gray green grey griffin gross grove gut guy ha hail hale hall ham hammer hand happy
    harbor hardy harmony harp hart harvest hase hawk haze hazel head heart heath heather heaven
    heavy heide held helm henna herb herbst hero hess hill hirsch hoch hof hoffnung holiday holly
    home honesty honey honor hood hook hope horn house huber hunter hut iman in india indigo iris
    iron isle israel ivory ivy jade jager january jasmine jay jet jewel job jolly jordan joy joya
    judge judo juli july jump june jung junior juste justice justus kaiser kale karma kay keen
    kelvin kent kenya key khaki kind king kiss kit kitty klein knight koch koenig kohl korn kraft
    krebs kreuz kurz könig la lace lake lamb lance land lane lang lark lass laurel law leaf leer
    lehrer lent liberty licht lila lilac lily lima lime linden link lion litter little live locke
    long lore lorry lotus love lovely loving low luck lucky lung luz lyric mad magic magnolia mai
    maiden main major malt man mandarin mango many maple marble march marina marine mark market
    marks marlin marsh marshal mason mast master may mayor me meadow mean meier melody mercy merit
    merry metro milan mild miles mill miller mills mine mint miracle miss mission misty moll monday
    monk montag moon moor morning moss most mountain mus my myrtle nasser nation neat nelly nest
    neu new nickel night nil noble noel norm north nova november nun oak ocean odd odessa olive
    opal orange orchid otter page paige paisley palm pan panther paradise paris park parker parks
    pat patience patsy paz peace peach pearl penny pepper perfect perk perry petal petunia pfeffer
    philosophy phoenix pia pike pine piper pitt plum poet pole pool poppy porsche port porter post
    potter powder power powers precious presley price prime prince princess prior prosper pure
    quality queen quick quill quinn rabbit rain rainbow raven ray reed reese reich reis rhea rhine
    rice rich richter ring ripple rise river rivers rock rocket rod roll rom roman rome romeo rose
    rot rowan royal ruby ruff run rush russ rusty rye sad sage sailor saint salad salmon salt samt
    san sand sandy sapphire sauer saul savage savannah scarlet schade schmied schneider schulz
    schwarz schäfer schön season see seek sept serenity shade shah shale shark sharp shell sherry
    shore short si sidney sierra silver sing skip sky slate small smart snow so sol sommer son song
    sonntag sonny south speck speer spring stag star stark steel stein step sterling stern stone
    storm stormy strange strauss strong sturm su sue summer summers sun sunday sung sunny sunshine
    sweet swift sydney tag tan tanner tau tausend taylor tell temple tennessee tennis terra texas
    theta tiger tin tiny toll topaz toy trinity trip true trust tucker tulip turner tyler una union
    unique unity urban usa use va val valentine valley van vegas velvet venus verona victory violet
    virgin virginia viva vogel vogt von wachs wade wagner wald walker wall wand war ward warm water
    watt weaver weber weg wein weiss weiß wells west wheat white wild wilde will willow wind wine
    winter winters wise witt wolf wolff wolke wood woods worth wren wright xi ye yes york you young
    yoyo zar zeppelin zimmer zimmermann zinn zion
    """.split()
)
# On the lists by mistake, or never meant as a name in a text.
NO_NAMES: Final = frozenset(
    """
    the and for but not his her its our you are was der die das und ist ein eine les des aux del los las
    von van zum zur dem den im am mit bei auf aus nach vor über unter durch gegen ohne
    """.split()
)
