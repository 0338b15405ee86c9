//! Documents by chance, for tests.

use proptest::prelude::*;

/// Well-formed content of an element: elements with attributes and declarations, texts in all their spellings, comments
/// and instructions. Prefixes in it are `p`, which has to be declared around, and those that it declares itself.
pub(crate) fn content() -> impl Strategy<Value = String> {
    let text = prop::sample::select(vec![
        "text",
        " \n\t",
        "é€",
        "&amp;&lt;&#13;&#x20;",
        "<![CDATA[<&]]>",
        "<!-- comment -->",
        "<?target data?>",
        "]] >",
        "\"'",
    ]);
    let attribute = prop::sample::select(vec![
        "",
        " b='1'",
        " p:b=\"&quot;&#9;&#10; é\"",
        " xml:lang='en' a='&lt;'",
        " xmlns='urn:other'",
        " xmlns:q='urn:q' q:c='' a=\"'\"",
        " xmlns:p='urn:elsewhere' p:z='1' a='2'",
    ]);
    let name = prop::sample::select(vec!["a", "p:b", "c-d"]);
    let leaf = text.prop_map(str::to_owned).boxed();
    leaf.prop_recursive(4, 32, 4, move |inner| {
        let content = prop::collection::vec(inner, 0..4);
        (name.clone(), attribute.clone(), content).prop_map(|(name, attribute, content)| {
            let content = content.concat();
            if content.is_empty() {
                format!("<{name}{attribute} />")
            } else {
                format!("<{name}{attribute}>{content}</{name}>")
            }
        })
    })
}
